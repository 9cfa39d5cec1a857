/**
 * Tests for connectors: a conformance suite, and fakes of the parts that the server passes to a connector.
 *
 * ```ts
 * import { describe, it } from 'node:test';
 * import { testConnector } from '@switchboard/connector-kit/testing';
 *
 * testConnector({ describe, it }, { createConnector, start: startFakeNetwork });
 * ```
 */

export { type ConformanceCase, conformanceCases, testConnector } from './conformance.ts';
export { FakeClock } from './fakeClock.ts';
export { FakeHost, type FakeHostOptions, FakeLog, FakeStore } from './fakeHost.ts';
export type { FakeNetwork, Gap, NetworkUnderTest, TestSession } from './networkUnderTest.ts';
