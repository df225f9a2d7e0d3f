"""Rules about clouds, clusters, containers and hosting platforms."""
