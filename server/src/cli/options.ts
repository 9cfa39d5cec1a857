import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Context } from './context.ts';

/* Parts of command declarations. */

/** The handler of a command. It is loaded when the command runs: a start loads only what it needs. */
export type Handler = (context: Context, ...values: never[]) => Promise<void>;

/** Adds a command below another. */
export type Adder = (parent: Command, name: string, description: string, load?: () => Promise<Handler>) => Command;

export const examples = (...lines: readonly string[]) =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

/** An option whose value has the name that the API uses. */
export function named(flags: string, attribute: string, description: string): Option {
  const option = new Option(flags, description);
  option.attributeName = () => attribute;
  return option;
}

export function toList(text: string): string[] {
  const list = text.split(',').map((one) => one.trim());
  if (list.includes('')) throw new InvalidArgumentError('Pass a list that is separated by commas.');
  return list;
}

export const toInteger = (least: number, most: number) => (text: string) => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new InvalidArgumentError(`Pass a whole number from ${least} to ${most}.`);
  return value;
};
