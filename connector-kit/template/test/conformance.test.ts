import { describe, it } from 'node:test';
import { testConnector } from '@switchboard/connector-kit/testing';
import { createConnector } from '../src/index.ts';
import { startFakeGateway } from './fakeGateway.ts';

testConnector(
  { describe, it },
  {
    createConnector,
    start: startFakeGateway,
    gaps: { outages: 'The gateway answers requests, and keeps no connection.' },
  },
);
