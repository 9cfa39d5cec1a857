import type { Forecast, NetworkWarning, PlannedMessage } from '../standing.ts';

/** Meta's error codes that come before a restriction of the number. */
const WARNINGS: Readonly<Record<number, NetworkWarning>> = {
  131048: 'spam_limit', // too many earlier messages were blocked or reported
  131049: 'spam_limit', // not delivered, to keep people engaged
  368: 'restricted', // policy
};

export function warningOf(code: number | undefined): NetworkWarning | undefined {
  return code === undefined ? undefined : WARNINGS[code];
}

/** How long after a person's last message anything but a template may be sent. */
const WINDOW_MS = 24 * 60 * 60 * 1000;

export function forecastOf({ chat, lastIncomingAt }: PlannedMessage, type: string, now: number): Forecast {
  if (type === 'template' || chat.type === 'group') return { outcome: 'ok' };
  if (lastIncomingAt !== null && now - lastIncomingAt < WINDOW_MS) return { outcome: 'ok' };
  return {
    outcome: 'template_required',
    reason: 'The recipient has not written within the last 24 hours, so WhatsApp accepts only a template',
  };
}
