import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from 'baileys';

/** The server part in the address of a person. */
export const PEOPLE = 's.whatsapp.net';
/** The server part in the address of a group. */
export const GROUPS = 'g.us';
/** The address of statuses. */
export const STATUS = 'status@broadcast';
/** The address of the server itself. */
export const SERVER_JID = '@s.whatsapp.net';

/** Builds a stanza without its undefined attributes. */
export function stanza(
  tag: string,
  attributes: Readonly<Record<string, string | undefined>> = {},
  content?: BinaryNode['content'],
): BinaryNode {
  const attrs: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) attrs[name] = value;
  return content === undefined ? { tag, attrs } : { tag, attrs, content };
}

export const childOf = (node: BinaryNode | undefined, tag: string): BinaryNode | undefined =>
  getBinaryNodeChild(node, tag);
export const childrenOf = (node: BinaryNode | undefined, tag: string): BinaryNode[] => getBinaryNodeChildren(node, tag);

/** The first child, which contains the content of a query. */
export function firstChild(node: BinaryNode): BinaryNode | undefined {
  return Array.isArray(node.content) ? node.content[0] : undefined;
}

/** The bytes of a child. Throws if they are missing, because that is a bug of the client. */
export function bytesOf(node: BinaryNode | undefined, tag: string): Buffer {
  const content = childOf(node, tag)?.content;
  if (!(content instanceof Uint8Array)) throw new Error(`<${node?.tag}> has no bytes in <${tag}>`);
  return Buffer.from(content);
}

/** The text of a stanza. Short strings arrive as dictionary words, longer ones as bytes. */
export function textOf(node: BinaryNode | undefined): string | undefined {
  const content = node?.content;
  if (content instanceof Uint8Array) return Buffer.from(content).toString('utf8');
  return typeof content === 'string' ? content : undefined;
}

export const bigEndian = (bytes: Uint8Array): number => Buffer.from(bytes).readUIntBE(0, bytes.length);
