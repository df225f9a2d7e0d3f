"""What may go without a loss: folders and files that tools make again."""
