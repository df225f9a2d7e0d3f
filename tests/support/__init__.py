"""What tests are made of: people, projects, servers, browsers, and ways to wait."""
