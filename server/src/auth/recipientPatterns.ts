/**
 * The recipients to whom a key may send: phone number digits, user ids, ids of groups, and the first digits of numbers.
 */
export interface RecipientPatterns {
  readonly exact: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

/**
 * @param patterns as `keyLimits` of the operations stores them, such as `491701234567`, `DE.999888`, `grp_…` and
 * `49170*`
 */
export function readRecipientPatterns(patterns: readonly string[]): RecipientPatterns {
  const [prefixes, exact] = [patterns.filter(isPrefix), patterns.filter((pattern) => !isPrefix(pattern))];
  return { exact: new Set(exact), prefixes: prefixes.map((pattern) => pattern.slice(0, -1)) };
}

/** @param recipient phone number digits, or the id of a group */
export function isRecipient({ exact, prefixes }: RecipientPatterns, recipient: string): boolean {
  return exact.has(recipient) || prefixes.some((prefix) => recipient.startsWith(prefix));
}

const isPrefix = (pattern: string) => pattern.endsWith('*');
