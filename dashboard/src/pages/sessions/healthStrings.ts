import { counted } from '../../strings/format.ts';

const number = (count: number) => count.toLocaleString('en');

/** The figures that tell the risk of a ban. */
export const healthStrings = {
  title: 'Sending',
  hint: 'Networks use figures like these to decide whether to ban a number.',
  risk: 'Risk of a ban',
  risks: { low: 'Low', elevated: 'Elevated', high: 'High' },
  newChats: 'New chats',
  answered: 'Answered chats',
  answeredOf: ({ answered, started }: { readonly answered: number; readonly started: number }) =>
    `${number(answered)} of ${number(started)} that it started this week`,
  sent: 'Messages sent',
  sentIn: (hour: number, day: number) => `${number(hour)} in the last hour, ${number(day)} in 24 hours`,
  pace: 'Fastest minute',
  perMinute: (count: number) => `${counted(count, 'message')}, in the last hour`,
  failed: 'Failed messages',
  unreachable: 'Unreachable numbers',
  unreadable: 'Received messages not decrypted',
  blockReports: 'Blocks and reports',
  ofHour: (count: number) => `${number(count)} in the last hour`,
  ofDay: (count: number) => `${number(count)} in 24 hours`,
  quota: "Network's quota",
  quotaOf: (used: number, total: number) => `${number(used)} of ${number(total)} new chats used`,
  noNewChats: 'No new chats until',
} as const;
