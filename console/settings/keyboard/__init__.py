"""The tab Keyboard: which keys do what, for one person."""
