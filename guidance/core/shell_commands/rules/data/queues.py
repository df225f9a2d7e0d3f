"""Queues and topics: purged with all the work that waits in them."""

from __future__ import annotations

from guidance.core.shell_commands.rules.rule import Rule

RULES = (
    Rule(
        name="queue-purge",
        message="Throws away all messages of a queue",
        why="Work that was accepted is never done, and nobody is told.",
        safer="Stop the consumers and read the queue; move messages to another one.",
        rollback="the messages saved to a file or a second queue.",
        patterns=(
            "celery ** purge",
            "celery ** amqp queue.purge|queue.delete",
            "rabbitmqctl purge_queue|delete_queue|reset|force_reset|delete_vhost|delete_user",
            "rabbitmqadmin purge|delete",
            "rq empty",
            "nats stream|str|s purge|rm|delete",
            "nats kv|obj del|rm|purge",
            "postsuper -d",
            "exim|exim4 -Mrm",
            "beanstool|beanctl delete|purge",
            "nsqadmin empty",
            "artisan queue:flush|horizon:clear",
            "huey flush",
            "sidekiqctl clear",
            "temporal workflow delete|terminate",
            "airflow db reset|clean",
            "airflow dags delete",
            "prefect flow|deployment|work-pool delete",
        ),
        trips=(
            "celery -A app purge -f",
            "rabbitmqctl purge_queue jobs",
            "nats stream purge ORDERS",
            "postsuper -d ALL",
        ),
        passes=("celery -A app worker", "rabbitmqctl list_queues", "postqueue -p"),
    ),
    Rule(
        name="topic-delete",
        message="Deletes a topic, its records, or where consumers stand in it",
        why="Records that were not read yet are lost, or all are read again.",
        safer="Shorten its retention, or stop the producers first.",
        rollback="a mirror of the topic.",
        patterns=(
            "kafka-topics --delete",
            "kafka-delete-records",
            "kafka-consumer-groups --delete|--delete-offsets",
            "kafka-consumer-groups --reset-offsets --execute",
            "rpk topic delete|trim-prefix",
            "rpk group delete|seek",
            "kcat -d",
            "pulsar-admin topics|namespaces|tenants|subscriptions delete|truncate|clear-backlog",
            "mosquitto_sub --remove-retained",
        ),
        trips=(
            "kafka-topics.sh --bootstrap-server k:9092 --delete --topic orders",
            "rpk topic delete orders",
        ),
        passes=("kafka-topics --list", "rpk topic list"),
    ),
)
