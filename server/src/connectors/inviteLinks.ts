/*
 * Links to groups and channels as people pass them on: without a scheme, with the query that apps add, behind a word of
 * invitation, or as the code alone.
 */

/**
 * Returns the code of an invite, which may be a link or a text with one.
 * @param link the part of a link before its code
 */
export function inviteCodeOf(invite: string, link: RegExp): string {
  const text = invite.replace(/\p{Cf}/gu, '').trim();
  const found = new RegExp(`(?:${link.source})([\\w-]+)`, 'i').exec(text)?.[1];
  return found ?? text.replace(/[?#].*$/s, '').replace(/\/+$/, '');
}
