import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Connector } from '../../server/src/connectors/contract/connector.ts';
import type { MessageContent } from '../../server/src/connectors/contract/content.ts';
import type { OutgoingMessage } from '../../server/src/connectors/contract/outgoing.ts';
import { AppError, type ErrorCode } from '../../server/src/errors.ts';
import { FakeClock } from './fakeClock.ts';
import { FakeHost, FakeLog, type FakeStore } from './fakeHost.ts';
import type { FakeNetwork, NetworkUnderTest, TestSession } from './networkUnderTest.ts';
import { PATIENCE_MS, within } from './within.ts';

/** One connector with its network, for one case. */
export class Scene {
  readonly clock = new FakeClock();
  readonly network: FakeNetwork;
  readonly #log = new FakeLog();
  readonly #under: NetworkUnderTest;
  readonly #sessions: TestSession[] = [];
  readonly #texts: string[] = [];
  readonly #errors: Error[] = [];
  #connector: Connector | undefined;

  private constructor(under: NetworkUnderTest, network: FakeNetwork) {
    this.#under = under;
    this.network = network;
  }

  /** Runs a case, and checks everything that holds in all cases. */
  static async run(under: NetworkUnderTest, play: (scene: Scene) => Promise<void>): Promise<void> {
    const network = await under.start();
    const scene = new Scene(under, network);
    try {
      await play(scene);
      await scene.#close();
      scene.#check();
    } catch (error) {
      // A report that the server would not understand is the reason for the rest.
      const [problem] = scene.#sessions.flatMap(({ host }) => host.problems);
      throw problem === undefined ? error : new Error(problem, { cause: error });
    } finally {
      await scene.#close().catch(() => {});
      await network.stop();
    }
  }

  get #patienceMs(): number {
    return this.#under.patienceMs ?? PATIENCE_MS;
  }

  async connector(): Promise<Connector> {
    this.#connector ??= await this.newConnector();
    return this.#connector;
  }

  /** Creates a connector as another node of the deployment has it. */
  async newConnector(): Promise<Connector> {
    return this.#under.createConnector({ clock: this.clock, log: this.#log });
  }

  newHost(store?: FakeStore, phoneNumber: string | null = null): FakeHost {
    return new FakeHost({
      options: this.network.options,
      clock: this.clock,
      log: this.#log,
      phoneNumber,
      callbackUrl: this.network.callbackUrl ?? null,
      patienceMs: this.#patienceMs,
      ...(store && { store }),
    });
  }

  /** Opens a session without waiting for its connection. */
  async begin(host = this.newHost(), connector?: Connector): Promise<TestSession> {
    const opening = (connector ?? (await this.connector())).open(host);
    const connection = await this.within(opening, '`open` resolves without waiting for the network');
    connection.attempt?.catch(() => {}); // the caller of `connect` waits for it, and not every case
    const session: TestSession = {
      host,
      connection,
      async callBack({ method = 'POST', query = new URLSearchParams(), headers = {}, body = '' }) {
        const request = { method, query, headers, body: Buffer.from(body) };
        assert.ok(connection.takeCallback, 'a connector with `takesCallbacks` has connections with `takeCallback`');
        try {
          return await connection.takeCallback(request);
        } catch {
          return { status: 500 };
        }
      },
    };
    this.#sessions.push(session);
    return session;
  }

  /** Opens a session, and resolves once it is connected. */
  async open(): Promise<TestSession> {
    const session = await this.begin();
    await this.network.link?.(session);
    await session.host.waitFor('connected');
    return session;
  }

  /** A message to the person, or to `to`. */
  message(content: Partial<MessageContent> = {}, to = this.network.somebody): OutgoingMessage {
    const text = content.text ?? this.text();
    return {
      networkId: `msg_${randomUUID()}`,
      chat: { type: 'direct', id: to },
      content: { type: 'text', ...content, text },
      replyTo: null,
    };
  }

  /** A text that appears nowhere else. */
  text(): string {
    const text = `text ${randomUUID()}`;
    this.#texts.push(text);
    return text;
  }

  /** Resolves with the error that the caller of the API gets. */
  async refusal(sending: Promise<unknown>, expectation: string): Promise<AppError> {
    const refused = sending.then(
      () => assert.fail(`Expected that ${expectation}, and it succeeded`),
      (error: unknown) => error,
    );
    const error = await this.within(refused, expectation);
    if (!(error instanceof AppError))
      throw new Error(`Expected that ${expectation} with an AppError. It threw this, which hides the reason`, {
        cause: error,
      });
    this.#errors.push(error);
    return error;
  }

  /** Waits for an act of the connector. */
  within<T>(coming: Promise<T>, expectation: string): Promise<T> {
    return within(coming, expectation, this.#patienceMs);
  }

  /** Waits while time passes, for what a connector repeats after a pause. */
  async whileTimePasses<T>(coming: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    coming.then(settle, settle);
    while (!isSettled) {
      await this.clock.advance(1000);
      // For the network, which has its own time.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return coming;
  }

  async #close(): Promise<void> {
    for (const { connection } of this.#sessions) await this.within(connection.close(), '`close` resolves');
  }

  #check(): void {
    assert.deepEqual(
      this.#sessions.flatMap(({ host }) => host.problems),
      [],
      'Every report has its documented shape',
    );
    const properties: Readonly<Record<string, object>> = this.#connector?.options.properties ?? {};
    const secrets = Object.entries(this.network.options).flatMap(([name, value]) => {
      const option: { writeOnly?: boolean } | undefined = properties[name];
      return option?.writeOnly === true && typeof value === 'string' ? [value] : [];
    });
    for (const line of this.#log.lines) {
      assert.ok(!secrets.some((secret) => line.includes(secret)), `The log has a secret: ${line}`);
      assert.ok(!this.#texts.some((text) => line.includes(text)), `The log has the text of a message: ${line}`);
    }
    for (const { message } of this.#errors)
      assert.ok(!secrets.some((secret) => message.includes(secret)), `An error shows a secret: ${message}`);
  }
}

export function assertCode(error: AppError, code: ErrorCode): void {
  assert.equal(error.code, code, `The error has the code ${error.code} (${error.message}), and not ${code}`);
}
