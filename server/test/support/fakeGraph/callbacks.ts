import { createHmac } from 'node:crypto';

/** The part of a callback for one number: `field` and the members of `value`. */
export interface Report {
  readonly field?: string;
  readonly [member: string]: unknown;
}

/** The defect of a callback. */
export interface CallbackFault {
  readonly signWith?: string;
  /** For another number of the same app. */
  readonly phoneNumberId?: string;
  /** For another business account. */
  readonly accountId?: string;
  /** The exact body, if it is not a callback. */
  readonly body?: string;
}

export interface Addressee {
  readonly url: string;
  readonly appSecret: string;
  readonly phoneNumberId: string;
  readonly displayNumber: string;
}

/** The body of a callback in the format of Meta, which escapes non-ASCII characters and slashes. */
export function callbackBody(
  { phoneNumberId, displayNumber }: Addressee,
  reports: readonly Report[],
  accountId = '100',
): string {
  const changes = reports.map(({ field = 'messages', ...value }) => ({
    field,
    // Notifications about the account name no number.
    value: accountFields.test(field)
      ? value
      : {
          messaging_product: 'whatsapp',
          metadata: { display_phone_number: displayNumber, phone_number_id: phoneNumberId },
          ...value,
        },
  }));
  return signedText({ object: 'whatsapp_business_account', entry: [{ id: accountId, time: TIME, changes }] });
}

const accountFields = /^(account_|message_template_|template_|phone_number_|business_)/;
/** When every notification happened, in seconds. */
export const TIME = 1_751_247_548;

function signedText(callback: object): string {
  return JSON.stringify(callback)
    .replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/');
}

/** Posts a callback signed with the secret of the app. @returns the status of the response */
export async function postCallback(
  to: Addressee,
  reports: readonly Report[],
  fault: CallbackFault = {},
): Promise<number> {
  const addressee = { ...to, phoneNumberId: fault.phoneNumberId ?? to.phoneNumberId };
  const body = fault.body ?? callbackBody(addressee, reports, fault.accountId);
  const signature = createHmac('sha256', fault.signWith ?? to.appSecret)
    .update(body)
    .digest('hex');
  const response = await fetch(to.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
    body,
  });
  await response.body?.cancel();
  return response.status;
}

/** Sends the challenge to a callback URL, as Meta does before using it. */
export async function askChallenge(url: string, verifyToken: string): Promise<{ status: number; text: string }> {
  const query = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': verifyToken,
  });
  const response = await fetch(`${url}?${query}`);
  return { status: response.status, text: await response.text() };
}
