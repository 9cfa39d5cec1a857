import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from 'baileys';

/** Behind the @ of a person's number. */
export const PEOPLE = 's.whatsapp.net';
/** Behind the @ of a group. */
export const GROUPS = 'g.us';
/** The server's own address: a person's, without the person. */
export const SERVER_JID = '@s.whatsapp.net';

/** Builds a stanza; attributes that are undefined are left out. */
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

/** The first child, which in a query says what is asked. */
export function firstChild(node: BinaryNode): BinaryNode | undefined {
  return Array.isArray(node.content) ? node.content[0] : undefined;
}

/** A child's bytes. A client that leaves them out has a bug that a test should hear of. */
export function bytesOf(node: BinaryNode | undefined, tag: string): Buffer {
  const content = childOf(node, tag)?.content;
  if (!(content instanceof Uint8Array)) throw new Error(`<${node?.tag}> has no bytes in <${tag}>`);
  return Buffer.from(content);
}

/** A stanza's text. Short strings arrive as words of the dictionary, longer ones as bytes. */
export function textOf(node: BinaryNode | undefined): string | undefined {
  const content = node?.content;
  if (content instanceof Uint8Array) return Buffer.from(content).toString('utf8');
  return typeof content === 'string' ? content : undefined;
}

export const bigEndian = (bytes: Uint8Array): number => Buffer.from(bytes).readUIntBE(0, bytes.length);
