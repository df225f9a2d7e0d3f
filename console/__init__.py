"""What people see: pages, the live queue, and the sockets that keep them current."""
