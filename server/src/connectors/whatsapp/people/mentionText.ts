/**
 * Clients show a person's name in place of the digits behind an `@`, if they are the user part of a mentioned address.
 * Returns the text with other digits behind the `@`.
 * @param users the digits in the text → the digits that replace them
 */
export function withMentions(text: string, users: ReadonlyMap<string, string>): string {
  if (users.size === 0) return text;
  return text.replace(/@(\d+)/g, (found, digits: string) => {
    const user = users.get(digits);
    return user === undefined ? found : `@${user}`;
  });
}

/** The user part of an address, without its device. */
export const userOf = (jid: string): string => jid.replace(/[:@].*$/s, '');
