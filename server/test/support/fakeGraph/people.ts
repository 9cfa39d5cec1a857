/*
 * The people of the fake Graph API, after Meta's pages on business-scoped user ids (business-scoped-user-ids, March
 * 2026), system messages (webhooks/reference/messages/system, August 2026) and blocked users (block-users, May 2026)
 * below https://developers.facebook.com/documentation/business-messaging/whatsapp/. The number of an answer can differ
 * from the one of the request: chatwoot/chatwoot #13986 and devlikeapro/waha #1516 report that for Brazil and Mexico.
 */

/** Business-scoped user ids, for one portfolio or several. */
export const USER_ID = /^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,128}$/;

/** Details of an incoming message and its sender. */
export interface About {
  readonly name?: string;
  readonly id?: string;
  readonly userId?: string;
  readonly parentUserId?: string;
  readonly username?: string;
}

/** A person in a request to block: Meta takes a number or a user id. */
export interface Blocked {
  readonly user?: string;
  readonly user_id?: string;
}

/** Meta's knowledge of recipients. */
export class FakePeople {
  readonly #forms = new Map<string, string>();
  readonly #userIds = new Map<string, string>();

  /** Lets Meta know a number by another form. */
  know(number: string, waId: string): void {
    this.#forms.set(number, waId);
  }

  /** Gives a person with a number a user id. */
  identify(waId: string, userId: string): void {
    this.#userIds.set(waId, userId);
  }

  /** An entry of `contacts` in the answer of a send. A user id is answered without the number. */
  recipientOf(input: string): object {
    if (USER_ID.test(input)) return { input, user_id: input };
    const digits = input.replace(/\D/g, '');
    const waId = this.#forms.get(digits) ?? digits;
    const userId = this.#userIds.get(waId);
    return { input, wa_id: waId, ...(userId !== undefined && { user_id: userId }) };
  }
}

/** A sender, as the message and `contacts` show it. A person with a hidden number has only the ids. */
export function senderOf(from: string, { name = 'Ada', userId, parentUserId, username }: About) {
  const isNumber = /^\d+$/.test(from);
  const id = isNumber ? userId : from;
  return {
    sender: {
      ...(isNumber && { from }),
      ...(id !== undefined && { from_user_id: id }),
      ...(parentUserId !== undefined && { from_parent_user_id: parentUserId }),
    },
    contact: {
      profile: { name, ...(username !== undefined && { username }) },
      ...(isNumber && { wa_id: from }),
      ...(id !== undefined && { user_id: id }),
      ...(parentUserId !== undefined && { parent_user_id: parentUserId }),
    },
  };
}
