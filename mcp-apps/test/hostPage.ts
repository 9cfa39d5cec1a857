import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';

/* The page of a client that shows an app with the official bridge. Its tools are called by the test. */

type ToolResult = Parameters<AppBridge['sendToolResult']>[0];

export interface Shown {
  readonly html: string;
  readonly input: Record<string, unknown>;
  readonly result: ToolResult;
  readonly theme: 'light' | 'dark';
}

declare global {
  interface Window {
    /** Provided by the test. */
    callTool(name: string, input: Record<string, unknown>): Promise<ToolResult>;
    showApp(shown: Shown): Promise<void>;
    closeApp(): Promise<void>;
    /** The texts that the app passed on to the model. */
    told: string[];
  }
}

/** The policy of a client for an app whose resource declares no domains. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

window.told = [];
window.showApp = async ({ html, input, result, theme }) => {
  const frame = document.createElement('iframe');
  frame.title = 'App';
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.style.width = '100%';
  document.body.append(frame);
  const bridge = new AppBridge(
    null,
    { name: 'test host', version: '1.0.0' },
    { serverTools: {}, updateModelContext: { text: {} } },
    { hostContext: { theme, locale: 'en-US', timeZone: 'UTC' } },
  );
  bridge.oncalltool = ({ name, arguments: given = {} }) => window.callTool(name, given);
  bridge.onupdatemodelcontext = async ({ content = [] }) => {
    for (const block of content) if (block.type === 'text') window.told.push(block.text);
    return {};
  };
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) frame.style.height = `${height}px`;
  };
  bridge.oninitialized = () => {
    void bridge.sendToolInput({ arguments: input });
    void bridge.sendToolResult(result);
  };
  if (frame.contentWindow === null) throw new Error('the frame has no window');
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = html.replace('<head>', `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
  window.closeApp = async () => {
    await bridge.teardownResource({});
    frame.remove();
  };
};
