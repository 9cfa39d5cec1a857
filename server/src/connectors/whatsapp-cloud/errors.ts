import { AppError, type ErrorCode, invalidField } from '../../errors.ts';
import type { Interactive } from '../contract/content.ts';
import { GraphError } from './graph.ts';

/**
 * The consequence of a Graph API error:
 * - `retry`: the request may succeed in a moment.
 * - `pair`: too many messages to this one recipient; others still go out.
 * - `session`: nothing works until somebody fixes the token or the account.
 * - `permission`: the token lacks this permission, but may have others.
 * - `nobody`: the recipient cannot receive it.
 * - `window`: the recipient has not written for 24 hours, so only a template is accepted.
 * - `noTemplate`: the template does not exist in this language, or was never approved.
 * - `badTemplate`: the template is paused, disabled or against a policy.
 * - `values`: the values do not fit the template.
 * - `refused`: it will be refused again.
 */
export type Verdict =
  | 'retry'
  | 'pair'
  | 'session'
  | 'permission'
  | 'nobody'
  | 'window'
  | 'noTemplate'
  | 'badTemplate'
  | 'values'
  | 'refused';

/** By Meta's codes: https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
const VERDICTS: Readonly<Record<number, Verdict>> = {
  1: 'retry', // unknown
  2: 'retry', // temporary
  4: 'retry', // calls of the app
  80007: 'retry', // calls of the business account
  130429: 'retry', // messages of the number
  131000: 'retry', // something went wrong
  131016: 'retry', // service unavailable
  133004: 'retry', // server unavailable
  131056: 'pair',
  0: 'session', // authentication
  190: 'session', // token
  131031: 'session', // account locked
  131045: 'session', // number not registered
  133010: 'session', // the same, in older versions
  3: 'permission', // capability
  10: 'permission', // permission
  131005: 'permission', // access denied
  131021: 'nobody', // the number itself
  131026: 'nobody', // undeliverable
  131030: 'nobody', // not among the recipients of a test number
  131062: 'nobody', // an authentication template needs the number of a person
  131047: 'window',
  100: 'refused', // parameter
  368: 'refused', // policy
  130472: 'refused', // Meta's experiment
  131008: 'refused', // parameter missing
  131009: 'refused', // parameter value
  131042: 'refused', // payment
  131048: 'refused', // spam limit
  131049: 'refused', // Meta chose not to deliver
  131050: 'refused', // recipient opted out of marketing
  131051: 'refused', // type
  131052: 'refused', // media download
  131053: 'refused', // media upload
  132001: 'noTemplate',
  132007: 'badTemplate', // policy
  132015: 'badTemplate', // paused
  132016: 'badTemplate', // disabled
  132000: 'values', // number of parameters
  132005: 'values', // too long with its values
  132012: 'values', // format of a parameter
  132018: 'values', // parameters of the template
};

export function verdictOf({ code, status }: GraphError): Verdict {
  // Without a code, the answer comes from a proxy and not from the Graph API.
  const known = code === 0 && status !== 401 ? undefined : VERDICTS[code];
  if (known !== undefined) return known;
  if (status === 429 || status >= 500) return 'retry';
  // The range of missing permissions.
  return code >= 200 && code <= 299 ? 'permission' : 'refused';
}

export function toAppError(error: GraphError): AppError {
  const message = describe(error);
  switch (verdictOf(error)) {
    case 'nobody':
      return new AppError('recipient_not_on_network', message, { cause: error });
    case 'window':
      return new AppError(
        'template_required',
        `The recipient has not written within the last 24 hours; send a template with messages/send-template. ${message}`,
        { cause: error },
      );
    case 'session':
      return new AppError('session_not_connected', message, { cause: error });
    case 'permission':
      return new AppError('network_denied', message, { cause: error });
    case 'pair':
      return new AppError('rate_limited', message, { cause: error, retryAfterSeconds: 6 });
    case 'retry':
      return error.status >= 500
        ? new AppError('send_failed', message, { cause: error })
        : new AppError('rate_limited', message, { cause: error, retryAfterSeconds: error.retryAfterSeconds ?? 30 });
    case 'noTemplate':
      return new AppError(
        'not_found',
        `The template does not exist in this language, or is not approved; see GET /sessions/{sessionId}/templates. ${message}`,
        { cause: error },
      );
    case 'badTemplate':
      return new AppError('network_denied', message, { cause: error });
    case 'values':
      return invalidField('components', message);
    case 'refused':
      return new AppError('send_failed', message, { cause: error });
  }
}

const PARAMETER_VALUE = 131009;
const productFields = ['product', 'products', 'catalog'] as const;

/**
 * Returns the caller's error if Meta refuses the products of a message, and other errors as they are. Clients report
 * "Products not found in FB Catalog" with this code: docs/portfolio/TECHNICAL_DEEP_DIVE.md of
 * amitkssolanki/whatsapp-integration.
 */
export function ofProducts(error: unknown, interactive: Interactive | undefined): unknown {
  const field = productFields.find((name) => interactive?.[name] !== undefined);
  if (field === undefined || !(error instanceof GraphError) || error.code !== PARAMETER_VALUE) return error;
  return invalidField(field, describe(error));
}

/** Returns the code of a failure that Meta reports after it has accepted the message. */
export const codeOfFailure = (code: number): ErrorCode =>
  toAppError(new GraphError('', { code, status: REPORTED, retryAfterSeconds: undefined })).code;

/** Stands for the missing HTTP status, so that an unknown failure is `send_failed`. */
const REPORTED = 500;

export function describe({ code, message }: { code: number; message: string }): string {
  return `WhatsApp says: ${message}${code === 0 ? '' : ` (${code})`}`;
}
