"""Who may read and do what, declared once: for the API, the console and their tests."""
