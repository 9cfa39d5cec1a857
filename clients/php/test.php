<?php

declare(strict_types=1);

// Runs the cases that all clients share: php test.php

require __DIR__ . '/SwitchboardWebhooks.php';

function outcome(array $case, mixed ...$changes): string
{
    $case = [...$case, ...$changes];
    try {
        $allowBodyOnly = $case['require'] === 'any';
        $arguments = [$case['body'], $case['headers'], $case['secrets'], $allowBodyOnly];
        return SwitchboardWebhooks::verify(...$arguments, now: $case['now'])['scheme'];
    } catch (SwitchboardRefusal $refusal) {
        return $refusal->getMessage();
    } catch (InvalidArgumentException) {
        return 'invalid argument';
    }
}

function check(string $title, mixed $actual, mixed $expected): void
{
    static $count = 0;
    $count++;
    if ($actual !== $expected) {
        fwrite(STDERR, "$title: got " . var_export($actual, true) . ', want ' . var_export($expected, true) . "\n");
        exit(1);
    }
    echo "ok $count $title\n";
}

$cases = json_decode((string) file_get_contents(__DIR__ . '/../vectors.json'), true, flags: JSON_THROW_ON_ERROR);
check('there are cases', count($cases) > 0, true);
foreach ($cases as $case) {
    check($case['title'], outcome($case), $case['expected']);
}
[$case] = $cases;
check('one secret', outcome($case, secrets: $case['secrets'][0]), 'standard');
check('lists of values', outcome($case, headers: array_map(fn ($value) => [$value], $case['headers'])), 'standard');
foreach (['', [], [''], ['good', '']] as $secrets) {
    check('an empty secret', outcome($case, secrets: $secrets), 'invalid argument');
}
$verified = SwitchboardWebhooks::verify($case['body'], $case['headers'], $case['secrets'], now: $case['now']);
check('the signed facts', [$verified['id'], $verified['timestamp']], [$case['headers']['webhook-id'], 1767323045]);
