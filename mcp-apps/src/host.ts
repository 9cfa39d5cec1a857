import {
  App,
  applyDocumentTheme,
  applyHostFonts,
  applyHostStyleVariables,
  type McpUiHostContext,
} from '@modelcontextprotocol/ext-apps';

type Result = Awaited<ReturnType<App['callServerTool']>>;

/** The output of a tool. The server defines its fields; a client could change them, so they are read with care. */
export type Output = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly output: Output;
  /** An image of the result, as a data URL. */
  readonly image: string | undefined;
}

/** An error that a tool reported, or the client, if it did not call the tool. */
export class ToolError extends Error {
  readonly code: string;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, code: string, retryAfterMs?: number) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}

interface Handlers {
  /** Called with the input of the tool whose result the app shows. */
  onInput(input: Output): void;
  onResult(result: Promise<Answer>): void;
  onStop(): void;
}

/** The client that shows the app, through which it calls tools. */
export class Host {
  readonly #app: App;

  constructor(name: string, handlers: Handlers) {
    this.#app = new App({ name, version: '1.0.0' });
    this.#app.ontoolinput = ({ arguments: input = {} }) => handlers.onInput(input);
    this.#app.ontoolresult = (result) => handlers.onResult(read(result));
    this.#app.ontoolcancelled = () => handlers.onStop();
    this.#app.onteardown = () => {
      handlers.onStop();
      return {};
    };
    this.#app.onhostcontextchanged = applyLook;
  }

  async connect(): Promise<void> {
    await this.#app.connect();
    applyLook(this.#app.getHostContext() ?? {});
  }

  /** @throws {ToolError} */
  async call(tool: string, input: Output): Promise<Answer> {
    let result: Result;
    try {
      result = await this.#app.callServerTool({ name: tool, arguments: { ...input } });
    } catch (error) {
      throw new ToolError(error instanceof Error ? error.message : String(error), 'client');
    }
    return read(result);
  }

  /** Tells the model what a person has done here, if the client supports it. */
  async tell(text: string): Promise<void> {
    if (this.#app.getHostCapabilities()?.updateModelContext === undefined) return;
    // Only helps the model: without it, the model asks the server.
    await this.#app.updateModelContext({ content: [{ type: 'text', text }] }).catch(() => {});
  }

  /** Formats a time as the person is used to. */
  time(iso: unknown, options: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'medium' }): string {
    const date = new Date(String(iso));
    if (Number.isNaN(date.getTime())) return String(iso);
    const { locale, timeZone } = this.#app.getHostContext() ?? {};
    try {
      return new Intl.DateTimeFormat(locale, { ...options, ...(timeZone !== undefined && { timeZone }) }).format(date);
    } catch {
      return date.toISOString(); // a locale or time zone that the browser does not know
    }
  }
}

function applyLook({ theme, styles }: McpUiHostContext): void {
  if (theme !== undefined) applyDocumentTheme(theme);
  if (styles?.variables !== undefined) applyHostStyleVariables(styles.variables);
  if (styles?.css?.fonts !== undefined) applyHostFonts(styles.css.fonts);
}

/** @throws {ToolError} if the tool reported an error */
async function read({ isError, content, structuredContent }: Result): Promise<Answer> {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (isError) throw errorOf(texts.at(-1) ?? '');
  const image = content.find((block) => block.type === 'image');
  return {
    // Clients may leave out structured content. The last text is the same as JSON.
    output: asOutput(structuredContent) ?? parse(texts.at(-1)) ?? {},
    image: image?.mimeType === 'image/png' ? `data:image/png;base64,${image.data}` : undefined,
  };
}

function errorOf(text: string): ToolError {
  const { code, detail, retryAfterSeconds } = asOutput(parse(text)?.['error']) ?? {};
  if (typeof detail !== 'string') return new ToolError(text || 'The tool failed.', 'client');
  return new ToolError(
    detail,
    String(code),
    typeof retryAfterSeconds === 'number' ? retryAfterSeconds * 1000 : undefined,
  );
}

function parse(text: string | undefined): Output | undefined {
  try {
    return asOutput(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

export const asOutput = (value: unknown): Output | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Output) : undefined;

export const listOf = (value: unknown): readonly Output[] =>
  Array.isArray(value) ? value.map(asOutput).filter((one) => one !== undefined) : [];

export const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
