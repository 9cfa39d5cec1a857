<?php

declare(strict_types=1);

// A receiver of webhooks. It reads WEBHOOK_SECRET. Behind any web server, or: php -S 0.0.0.0:3000 receiver.php

require __DIR__ . '/SwitchboardWebhooks.php';

$body = (string) file_get_contents('php://input', length: 1_048_577);
if (strlen($body) > 1_048_576) {
    http_response_code(413);
    exit;
}
try {
    SwitchboardWebhooks::verify($body, getallheaders(), (string) getenv('WEBHOOK_SECRET'));
} catch (SwitchboardRefusal $refusal) {
    error_log("refused: {$refusal->getMessage()}");
    http_response_code(401);
    exit;
}
$delivery = json_decode($body, true);
error_log($delivery['event'] . ' ' . json_encode($delivery['data']));
http_response_code(204);
