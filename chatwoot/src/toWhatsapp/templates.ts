import type { ChatwootMessage } from '../chatwoot/payload.ts';
import { isObject } from '../fields.ts';
import { unescaped } from '../text/whatsappText.ts';

export interface Template {
  readonly name: string;
  readonly language: string;
  readonly components: Record<string, unknown>[];
}

const COMMAND = /^\/template\s+([a-z0-9_]{1,512})\s+([a-z]{2,3}(?:_[A-Z]{2})?)\s*(?:\n([\s\S]*))?$/;
const MAX_VALUES = 50;

/** A text begins like the command for templates but has another form. The agent reads the message. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/**
 * Reads a template from `template_params` of the message, as programs set it through Chatwoot's API, or from a text
 * such as `/template order_sent en_US`, whose further lines are the values of the body.
 * @throws {TemplateError}
 */
export function templateOf({ template, content }: ChatwootMessage): Template | undefined {
  const params = isObject(template) ? template : {};
  const { name, language } = params;
  if (typeof name === 'string' && typeof language === 'string')
    return { name, language, components: componentsOf(params['processed_params']) };
  const text = unescaped(content.replace(/\\?\r?\n/g, '\n')).trim();
  if (!/^\/template(?:\s|$)/.test(text)) return undefined;
  const [, ownName, ownLanguage, lines] = COMMAND.exec(text) ?? [];
  if (ownName === undefined || ownLanguage === undefined)
    throw new TemplateError('write `/template NAME LANGUAGE`, and each value of the body on a separate line');
  const values = (lines ?? '').split('\n').filter((line) => line.trim() !== '');
  return { name: ownName, language: ownLanguage, components: bodyOf(values) };
}

/** `{"1": "Ada"}`, or `{"body": {"1": "Ada"}}` since Chatwoot 4.5. Its values can have names. */
function componentsOf(processed: unknown): Record<string, unknown>[] {
  if (!isObject(processed)) return [];
  const body = isObject(processed['body']) ? processed['body'] : processed;
  const values = Object.entries(body).filter((entry): entry is [string, string | number] =>
    ['string', 'number'].includes(typeof entry[1]),
  );
  if (values.every(([key]) => /^\d+$/.test(key)))
    return bodyOf(values.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, value]) => String(value)));
  const parameters = values
    .slice(0, MAX_VALUES)
    .map(([name, value]) => ({ type: 'text', parameter_name: name, text: String(value) }));
  return parameters.length === 0 ? [] : [{ type: 'body', parameters }];
}

function bodyOf(values: readonly string[]): Record<string, unknown>[] {
  const parameters = values.slice(0, MAX_VALUES).map((text) => ({ type: 'text', text: text.trim() }));
  return parameters.length === 0 ? [] : [{ type: 'body', parameters }];
}
