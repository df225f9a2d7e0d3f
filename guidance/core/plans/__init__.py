"""What an agent plans to do: judged once, and compared with the calls that come."""
