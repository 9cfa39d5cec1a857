/**
 * Returns a time with an offset, which the API requires. n8n's date picker gives none: it means the time zone of the
 * workflow.
 */
export function withOffset(time: string, zone: string): string {
  if (/(?:z|[+-]\d\d:?\d\d)$/i.test(time)) return time;
  const wanted = Date.parse(`${time.replace(' ', 'T')}${time.includes(':') ? '' : 'T00:00:00'}Z`);
  // The server explains what is wrong with it.
  if (Number.isNaN(wanted)) return time;
  // The offset can differ between both times around a change of the clocks.
  const near = wanted - offsetMs(wanted, zone);
  return new Date(wanted - offsetMs(near, zone)).toISOString();
}

function offsetMs(time: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(time);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
