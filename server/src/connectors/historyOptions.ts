import { Type } from 'typebox';
import { type HistoryChoice, historyChoices } from './contract/history.ts';

/** The options by which a session chooses its history, for the networks that have one. */
export const historyOptions = {
  history: Type.Optional(
    Type.Enum([...historyChoices], {
      description:
        'How much of the history of the phone to import after linking: none, recent (some months) or full. Default: recent. A change takes effect the next time that the session is linked.',
    }),
  ),
  historyEvents: Type.Optional(
    Type.Boolean({
      description: 'Whether each imported message also becomes an event, marked as history. Default: false.',
    }),
  ),
};

/** Reads the option. It was validated when it was set. */
export function historyChoiceOf({ history }: Readonly<Record<string, unknown>>): HistoryChoice {
  return historyChoices.find((choice) => choice === history) ?? 'recent';
}
