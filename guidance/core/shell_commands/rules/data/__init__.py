"""Rules about databases, stores and queues."""
