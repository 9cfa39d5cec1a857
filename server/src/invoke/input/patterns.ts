/* The patterns and other rules of text fields, and what they ask for, in words for errors. */

export const EMAIL = '^[^\\s@]{1,64}@[^\\s@]+$';
export const HTTP_URL = '^https?://';
export const COLOR = '^#[0-9A-Fa-f]{6}$';
export const CURRENCY = '^[A-Z]{3}$';
/** Empty for none. */
export const VERTICAL = '^[A-Z_]*$';
export const TEMPLATE_ID = '^[\\w-]{1,100}$';
export const TEMPLATE_NAME = '^[a-z0-9_]{1,512}$';
export const TEMPLATE_STATUS = '^[a-z_]+$';
export const LANGUAGE = '^[A-Za-z_]{2,20}$';

/** Each continues "must be". */
export const patternWords: ReadonlyMap<string, string> = new Map([
  [EMAIL, 'an email address, such as you@example.com'],
  [HTTP_URL, 'a URL that begins with http:// or https://'],
  [COLOR, 'a color, such as #1F6F5C'],
  [CURRENCY, 'a currency code of three capital letters, such as EUR'],
  [VERTICAL, 'in capital letters and underscores, such as RETAIL'],
  [TEMPLATE_ID, 'the id of a template, of letters, digits, hyphens and underscores'],
  [TEMPLATE_NAME, 'in small letters, digits and underscores, such as order_sent'],
  [TEMPLATE_STATUS, 'in small letters and underscores, such as approved'],
  [LANGUAGE, 'a language, such as en or en_US'],
]);

export const BLANK = 'must have a visible character';
export const MADE_SECRET = 'must not have the form of a secret that the server makes; pass another one';

/** The codes of other rules, by their messages. A rule without an entry is that of phone numbers. */
export const ruleCodes: ReadonlyMap<string, string> = new Map([
  [BLANK, 'blank'],
  [MADE_SECRET, 'reserved'],
]);
