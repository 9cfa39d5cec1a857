import { withoutHidden } from '../../invoke/input/plainText.ts';

/** The field of a result that counts the characters that were removed from it. */
export const REMOVED = 'invisibleCharactersRemoved';

type Fields = Record<string, unknown>;

/** Removes what people do not see from texts for a model, and counts it. One instance per result. */
export class Visible {
  #removed = 0;

  get removed(): number {
    return this.#removed;
  }

  /** Returns the value with visible texts and names of fields only. */
  of(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.of(item));
    return typeof value === 'object' && value !== null ? this.fields(value as Fields) : value;
  }

  fields(value: Readonly<Fields>): Fields {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.of(member)]));
  }

  text(text: string): string {
    const visible = withoutHidden(text);
    this.#removed += visible.removed;
    return visible.text;
  }

  /** Returns the count as a field of the result; no field if nothing was removed. */
  count(): { readonly [REMOVED]?: number } {
    return this.#removed === 0 ? {} : { [REMOVED]: this.#removed };
  }
}

/** Returns a text without what people do not see. */
export const visibleText = (text: string): string => withoutHidden(text).text;
