"""Plants small faults in what has changed, and says which of them no test notices."""
