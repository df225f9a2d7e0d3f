"""Plans that agents submit: approved by a ruling, used by calls, ended."""
