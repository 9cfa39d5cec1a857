import type { WebhookEndpoint } from '@switchboard/sdk/api';
import type { api } from '../../api.ts';

/** The values of the options with a fixed set of them. A test compares them with the API. */
export const choices = {
  chatTypes: ['direct', 'group', 'channel'],
  messageTypes: [
    'text',
    'image',
    'video',
    'audio',
    'voice',
    'document',
    'sticker',
    'location',
    'contact',
    'poll',
    'template',
    'interactive',
    'event',
    'product',
    'order',
    'group_invite',
    'unsupported',
  ],
  include: ['network', 'contact', 'chat', 'session', 'mediaLink'],
} as const;

/** The options as they are entered: lists with one entry per line. */
export interface WebhookOptions {
  readonly chats: string;
  readonly ignoredChats: string;
  readonly chatTypes: readonly string[];
  /** `true`, `false`, or empty for both. */
  readonly fromMe: string;
  readonly messageTypes: readonly string[];
  /** `true`, `false`, or empty for both. */
  readonly hasReferral: string;
  readonly adIds: string;
  /** Null for what the server adds by default. */
  readonly include: readonly string[] | null;
  readonly inlineMediaBytes: string;
  readonly headers: string;
  readonly removesHeaders: boolean;
  readonly acceptRedirects: boolean;
  readonly timeoutMs: string;
  readonly retries: 'server' | 'none' | 'own';
  readonly retrySeconds: string;
  readonly metadata: string;
  /** Time in ISO; null for never. */
  readonly expiresAt: string | null;
}

export const noOptions: WebhookOptions = {
  chats: '',
  ignoredChats: '',
  chatTypes: [],
  fromMe: '',
  messageTypes: [],
  hasReferral: '',
  adIds: '',
  include: null,
  inlineMediaBytes: '',
  headers: '',
  removesHeaders: false,
  acceptRedirects: false,
  timeoutMs: '',
  retries: 'server',
  retrySeconds: '',
  metadata: '',
  expiresAt: null,
};

/** The fields as errors of the API name them. */
export const optionFieldNames = [
  'filters',
  'filters.chats',
  'filters.ignoredChats',
  'filters.chatTypes',
  'filters.fromMe',
  'filters.messageTypes',
  'filters.hasReferral',
  'filters.adIds',
  'include',
  'inlineMediaBytes',
  'headers',
  'acceptRedirects',
  'timeoutMs',
  'retrySeconds',
  'metadata',
  'expiresAt',
];

type NewEndpoint = Parameters<typeof api.webhooks.endpoints.create>[0];
/** The options as the API takes them. */
export type SentOptions = Pick<
  NewEndpoint,
  | 'filters'
  | 'include'
  | 'inlineMediaBytes'
  | 'headers'
  | 'acceptRedirects'
  | 'timeoutMs'
  | 'retrySeconds'
  | 'metadata'
  | 'expiresAt'
>;

/** The options of an existing webhook. The values of headers are never shown. */
export function enteredOptions(webhook: WebhookEndpoint): WebhookOptions {
  const { filters, retrySeconds, timeoutMs, metadata, include, inlineMediaBytes, acceptRedirects, expiresAt } = webhook;
  return {
    ...noOptions,
    chats: (filters?.chats ?? []).join('\n'),
    ignoredChats: (filters?.ignoredChats ?? []).join('\n'),
    chatTypes: filters?.chatTypes ?? [],
    fromMe: filters?.fromMe === undefined ? '' : String(filters.fromMe),
    messageTypes: filters?.messageTypes ?? [],
    hasReferral: filters?.hasReferral === undefined ? '' : String(filters.hasReferral),
    adIds: (filters?.adIds ?? []).join('\n'),
    include,
    inlineMediaBytes: inlineMediaBytes === 0 ? '' : String(inlineMediaBytes),
    acceptRedirects,
    timeoutMs: timeoutMs === null ? '' : String(timeoutMs),
    retries: retrySeconds === null ? 'server' : retrySeconds.length === 0 ? 'none' : 'own',
    retrySeconds: (retrySeconds ?? []).join(', '),
    metadata: Object.entries(metadata)
      .map(([key, value]) => `${key}: ${value}`)
      .join('\n'),
    expiresAt,
  };
}

const FILTERS = ['chats', 'ignoredChats', 'chatTypes', 'fromMe', 'messageTypes', 'hasReferral', 'adIds'] as const;

/** Returns the part of a request for the options whose names are in `changed`. The server validates it. */
export function readOptions(options: WebhookOptions, changed: Partial<WebhookOptions>): SentOptions {
  const has = (...names: readonly (keyof WebhookOptions)[]) => names.some((name) => name in changed);
  const { include, inlineMediaBytes, headers, removesHeaders, acceptRedirects, timeoutMs, metadata, expiresAt } =
    options;
  return {
    ...(has(...FILTERS) && { filters: filtersOf(options) }),
    // The choices are the values of the API.
    ...(has('include') && { include: include as SentOptions['include'] }),
    ...(has('inlineMediaBytes') && { inlineMediaBytes: Number(inlineMediaBytes) }),
    ...(removesHeaders ? { headers: null } : has('headers') && headers.trim() !== '' && { headers: pairsOf(headers) }),
    ...(has('acceptRedirects') && { acceptRedirects }),
    ...(has('timeoutMs') && { timeoutMs: timeoutMs === '' ? null : Number(timeoutMs) }),
    ...(has('retries', 'retrySeconds') && { retrySeconds: retrySecondsOf(options) }),
    ...(has('metadata') && { metadata: pairsOf(metadata) }),
    ...(has('expiresAt') && { expiresAt }),
  };
}

function filtersOf(options: WebhookOptions): SentOptions['filters'] {
  const { chats, ignoredChats, chatTypes, fromMe, messageTypes, hasReferral, adIds } = options;
  const filters = {
    ...(linesOf(chats).length > 0 && { chats: linesOf(chats) }),
    ...(linesOf(ignoredChats).length > 0 && { ignoredChats: linesOf(ignoredChats) }),
    ...(chatTypes.length > 0 && { chatTypes }),
    ...(fromMe !== '' && { fromMe: fromMe === 'true' }),
    ...(messageTypes.length > 0 && { messageTypes }),
    ...(hasReferral !== '' && { hasReferral: hasReferral === 'true' }),
    ...(linesOf(adIds).length > 0 && { adIds: linesOf(adIds) }),
  };
  // The choices are the values of the API.
  return Object.keys(filters).length === 0 ? null : (filters as SentOptions['filters']);
}

function retrySecondsOf({ retries, retrySeconds }: WebhookOptions): number[] | null {
  if (retries === 'server') return null;
  if (retries === 'none') return [];
  const entered = retrySeconds.split(/[\s,]+/).filter((one) => one !== '');
  // JSON has null for what is not a number. The text stays instead, so that the server's error repeats it.
  return entered.map((one) => (Number.isFinite(Number(one)) ? Number(one) : one)) as number[];
}

/** The lines of a text that are not empty. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Reads one `name: value` per line. */
function pairsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const end = line.includes(':') ? line.indexOf(':') : line.length;
      return [line.slice(0, end).trim(), line.slice(end + 1).trim()];
    }),
  );
}
