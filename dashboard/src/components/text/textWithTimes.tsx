import { Time } from './time.tsx';

/** A sentence of the server with its times in the time zone of the reader. */
export function TextWithTimes({ text }: { readonly text: string }) {
  const parts = text.split(/(\d{4}-\d\d-\d\dT[\d:.]+Z)/);
  // Every second part is a time, and no time occurs twice.
  return parts.map((part, index) => (index % 2 === 1 ? <Time key={part} at={part} /> : part));
}
