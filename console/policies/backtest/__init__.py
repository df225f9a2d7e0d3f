"""The pages of a backtest: what a draft would have decided otherwise."""
