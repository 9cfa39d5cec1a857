import assert from 'node:assert/strict';

/** Any lines in an expected text. */
const ANYTHING = '…';

/** Replaces what differs between two runs: identifiers, times, hashes, long numbers and our version. */
export const masked = (text: string): string =>
  text
    .replaceAll(/\b[a-z]{3,4}_[0-9A-Z]{26}\b/g, 'id')
    .replaceAll(/\b[0-9a-f]{32,}\b/g, 'hash')
    .replaceAll(/\bv1,[\w+/]{43}=/g, 'v1,signature')
    .replaceAll(/\bSwitchboard\/\d+\.\d+\.\d+(?:-[\w.]+)?/g, 'Switchboard/version')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replaceAll(/\d{4,}/g, 'number')
    .replaceAll(/\d+ ms\b/g, 'ms');

/** Whether the actual text has the expected lines and no others, except those that `…` stands for. */
export function isOutput(expected: string, actual: string): boolean {
  return matches(linesOf(masked(expected)), linesOf(masked(actual)));
}

function matches([wanted, ...others]: readonly string[], actual: readonly string[]): boolean {
  if (wanted === undefined) return actual.length === 0;
  if (wanted === ANYTHING) return actual.concat('').some((_, skipped) => matches(others, actual.slice(skipped)));
  return wanted === actual[0] && matches(others, actual.slice(1));
}

/** Whether the expected lines are among the actual ones, in this order. */
export function isAmong(expected: string, actual: string): boolean {
  const lines = linesOf(masked(actual));
  let from = 0;
  return linesOf(masked(expected)).every((line) => {
    const at = lines.indexOf(line, from);
    from = at + 1;
    return at !== -1;
  });
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');

/** Fails if a documented value is not part of the actual one. Fields that the documentation leaves out may exist. */
export function assertPart(expected: unknown, actual: unknown, path = 'output'): void {
  if (Array.isArray(expected)) {
    assert.ok(Array.isArray(actual), `${path} is not a list`);
    for (const [index, entry] of expected.entries()) assertPart(entry, actual[index], `${path}.${index}`);
  } else if (typeof expected === 'object' && expected !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, `${path} is not an object`);
    for (const [name, value] of Object.entries(expected)) {
      assert.ok(Object.hasOwn(actual, name), `${path}.${name} is missing`);
      assertPart(value, (actual as Record<string, unknown>)[name], `${path}.${name}`); // an object, checked above
    }
  } else if (typeof expected === 'string') {
    assert.equal(typeof actual, 'string', `${path} is not a text`);
    if (expected.includes('…')) assert.match(masked(String(actual)), patternOf(masked(expected)), path);
    else assert.equal(masked(String(actual)), masked(expected), path);
  } else if (typeof expected === 'number') {
    assert.equal(typeof actual, 'number', `${path} is not a number`);
  } else {
    assert.equal(actual, expected, path);
  }
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A pattern of a text that is shortened by `…`, which stands for one character or more. */
const patternOf = (text: string) => new RegExp(`^${text.split('…').map(escaped).join('.+')}$`, 's');

/** Parses the value that commands have printed: all of it, or its last line. */
export function parseOutput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '');
  }
}
