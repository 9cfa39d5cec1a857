/** "1 event", "1,204 events". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** "1,204 ms". */
export function milliseconds(count: number): string {
  return `${count.toLocaleString('en')} ms`;
}

/** Describes the plot of a webhook, or of all webhooks, for screen readers. */
export function attemptsSummary(delivered: number, failed: number): string {
  return `In the last hour, ${counted(delivered, 'attempt')} succeeded and ${failed.toLocaleString('en')} failed.`;
}
