import { AppError } from '../../../errors.ts';
import type { NetworkTemplate, TemplateActions } from '../../contract/business.ts';
import type { Forecast, NetworkWarning, PlannedMessage, PlannedTemplate } from '../../contract/standing.ts';

/** Meta's error codes that come before a restriction of the number. */
const WARNINGS: Readonly<Record<number, NetworkWarning>> = {
  131048: 'spam_limit', // too many earlier messages were blocked or reported
  131049: 'spam_limit', // not delivered, to keep people engaged
  368: 'restricted', // policy
};

/**
 * Most often, the recipient is not on WhatsApp. Meta does not say whether it is that, or an outdated app or settings.
 */
export const UNDELIVERABLE = 131026;

export function warningOf(code: number | undefined): NetworkWarning | undefined {
  return code === undefined ? undefined : WARNINGS[code];
}

/** How long after a person's last message anything but a template may be sent. */
const WINDOW_MS = 24 * 60 * 60 * 1000;

export function forecastOf({ chat, lastIncomingAt, isBlocked }: PlannedMessage, type: string, now: number): Forecast {
  if (isBlocked)
    return {
      outcome: 'blocked',
      reason: 'WhatsApp refuses messages to a contact that the session has blocked; unblock it first',
    };
  if (type === 'template' || chat.type === 'group') return { outcome: 'ok' };
  if (lastIncomingAt !== null && now - lastIncomingAt < WINDOW_MS) return { outcome: 'ok' };
  return {
    outcome: 'template_required',
    reason: 'The recipient has not written within the last 24 hours, so WhatsApp accepts only a template',
  };
}

/** Statuses of templates that can be sent. A flagged one is rated low, and may be paused soon. */
const SENDABLE: ReadonlySet<string> = new Set(['approved', 'flagged']);
const PAGE = 100;
/** Meta also lists templates of which the name is a part of the name. */
const MAX_PAGES = 10;

/**
 * Returns why a template cannot be sent; undefined if it can. Without a language, one that is approved in any is
 * enough.
 */
export async function forecastOfTemplate(
  templates: TemplateActions,
  { name, language }: PlannedTemplate,
): Promise<Forecast | undefined> {
  const filter = { name, ...(language !== undefined && { language }) };
  const found: NetworkTemplate[] = [];
  try {
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { templates: more, next } = await templates.list(filter, {
        limit: PAGE,
        ...(after !== undefined && { after }),
      });
      found.push(...more);
      if (found.some(({ status }) => SENDABLE.has(status))) return undefined;
      if (next === null) return unavailable(name, language, found);
      after = next;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { outcome: 'unknown', reason: `The template could not be checked. ${error.message}` };
  }
  return { outcome: 'unknown', reason: 'The template could not be checked, because many have similar names' };
}

function unavailable(name: string, language: string | undefined, [first]: readonly NetworkTemplate[]): Forecast {
  const where = language === undefined ? '' : ` in the language ${language}`;
  const reason =
    first === undefined
      ? `The template ${name} does not exist${where}`
      : `The template ${name} (${first.language}) is ${first.status}, and not approved`;
  return { outcome: 'template_unavailable', reason };
}
