/**
 * Returns the written forms of a number, the given one first. Brazil added a ninth digit that WhatsApp's
 * addresses often lack (devlikeapro/waha#1516); Mexico and Argentina have a digit for mobile phones.
 */
export function phoneForms(digits: string): readonly string[] {
  const rules: readonly (readonly [RegExp, string])[] = [
    [/^(55\d{2})9(\d{8})$/, '$1$2'],
    [/^(55\d{2})([6-9]\d{7})$/, '$19$2'],
    [/^521(\d{10})$/, '52$1'],
    [/^52(\d{10})$/, '521$1'],
    [/^549(\d{10})$/, '54$1'],
    [/^54(\d{10})$/, '549$1'],
  ];
  const [pattern, replacement] = rules.find(([pattern]) => pattern.test(digits)) ?? [];
  if (pattern === undefined || replacement === undefined) return [digits];
  // `$19` would be the nineteenth group in some engines.
  const other = digits.replace(pattern, (_, first: string, second = '') =>
    replacement.replace('$1', first).replace('$2', second),
  );
  return [digits, other];
}

/**
 * Whether it is a phone number that Chatwoot accepts, and not the placeholder of a hidden one (app/models/contact.rb).
 */
export function isPhoneNumber(id: string): boolean {
  return /^[1-9]\d{4,14}$/.test(id);
}
