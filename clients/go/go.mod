module switchboard/webhooks

go 1.19
