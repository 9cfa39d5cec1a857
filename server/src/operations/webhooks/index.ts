import type { Operation } from '../../invoke/operation.ts';
import * as deliveries from './deliveries.ts';
import * as endpoints from './endpoints.ts';
import * as eventSubscriptions from './eventSubscriptions.ts';
import * as events from './events.ts';
import * as eventTypes from './eventTypes.ts';
import * as replay from './replay.ts';
import * as webhookHealth from './webhookHealth.ts';
import * as webhookSecret from './webhookSecret.ts';
import * as webhooks from './webhooks.ts';
import * as webhookTest from './webhookTest.ts';

/** Operations on webhooks, deliveries and events. */
export const webhookOperations: readonly Operation[] = [
  webhooks.setWebhook,
  webhooks.getWebhook,
  webhookTest.testWebhook,
  webhookHealth.webhookStats,
  webhookHealth.getCircuitBreaker,
  webhookHealth.resetCircuitBreaker,
  deliveries.listDeliveries,
  deliveries.getDelivery,
  replay.replayDeliveries,
  deliveries.cancelPendingDelivery,
  webhookSecret.rotateWebhookSecret,
  webhookSecret.revealWebhookSecret,
  webhooks.deleteWebhook,
  endpoints.listEndpoints,
  endpoints.createEndpoint,
  endpoints.getEndpoint,
  endpoints.updateEndpoint,
  endpoints.deleteEndpoint,
  webhookSecret.rotateEndpointSecret,
  webhookSecret.revealEndpointSecret,
  webhookTest.testEndpoint,
  webhookHealth.endpointStats,
  webhookHealth.getEndpointBreaker,
  webhookHealth.resetEndpointBreaker,
  eventSubscriptions.listSubscriptions,
  eventSubscriptions.deleteSubscription,
  events.listEvents,
  eventTypes.listEventTypes,
];
