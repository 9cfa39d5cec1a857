import { createHash } from 'node:crypto';

export interface NetworkPerson {
  /** Digits of the phone number; those of a placeholder until the number is known. */
  readonly phoneNumber: string;
  /** The network's ids of the person, as far as they are known. */
  readonly networkIds: readonly string[];
  /** Id that the network uses instead of the number, such as a business-scoped user id of Meta. */
  readonly userId?: string;
  readonly username?: string;
}

/**
 * Whether these digits are a placeholder for somebody whose number the network hides: three zeros, with which no number
 * starts, and digits derived from the network's id of the person. Messages can be sent to a placeholder like to a
 * number.
 */
export const isPlaceholder = (digits: string): boolean => /^000\d{5,25}$/.test(digits);

/**
 * Business-scoped user id of Meta: a country code, `ENT` for the id in several portfolios, and up to 128 letters and
 * digits. https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids
 */
const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128}$/;

export const isUserId = (text: string): boolean => USER_ID.test(text);

const PLACEHOLDER_DIGITS = 20;

/** Returns the placeholder of a person with a user id. */
export function placeholderOfUserId(userId: string): string {
  const hash = createHash('sha256').update(userId).digest('hex');
  return `000${BigInt(`0x${hash}`).toString().slice(-PLACEHOLDER_DIGITS)}`;
}
