"""The page of limits that runs share, and the form that gives more of one."""
