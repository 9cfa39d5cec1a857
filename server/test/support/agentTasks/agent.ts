import { mcpClient } from '../mcp/mcp.ts';

type Client = Awaited<ReturnType<typeof mcpClient>>;

// biome-ignore lint/suspicious/noExplicitAny: an agent looks into outputs of every shape
export type Output = any;

/** The agent cannot go on, because a tool refused a call or a result lacks what the task needs. */
export class BlockedError extends Error {}

/** Calls tools with the official client, and counts what a model reads of the results. */
export class Agent {
  readonly #client: Client;
  calls = 0;
  characters = 0;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async connect(url: string, key: string): Promise<Agent> {
    return new Agent(await mcpClient({ url }, key, '2026-07-28'));
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** @throws {BlockedError} if the tool reports an error */
  async call(name: string, input: Readonly<Record<string, unknown>> = {}): Promise<Output> {
    this.calls++;
    const { content, isError, structuredContent } = await this.#client.callTool({ name, arguments: { ...input } });
    const texts = (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text);
    this.characters += texts.reduce((sum, text) => sum + text.length, 0);
    if (isError === true) throw new BlockedError(`${name}: ${texts.join(' ')}`);
    return structuredContent;
  }
}

/** The value, if the result had it. */
export function found<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new BlockedError(`The results do not show ${what}`);
  return value;
}
