import {
  Activity,
  BookOpen,
  Braces,
  KeyRound,
  MessagesSquare,
  RadioTower,
  ScrollText,
  Send,
  ShieldCheck,
  Smartphone,
  Users,
  Webhook,
  Wrench,
} from 'lucide-react';
import { shellStrings } from './strings.ts';

const { pages, groups } = shellStrings;

/** All pages of the navigation, in groups. */
export const navigation = [
  {
    title: groups.watch,
    links: [
      { to: '/', title: pages.overview, icon: Activity },
      { to: '/deliveries', title: pages.deliveries, icon: Send },
      { to: '/events', title: pages.events, icon: ScrollText },
    ],
  },
  {
    title: groups.talk,
    links: [
      { to: '/sessions', title: pages.sessions, icon: RadioTower },
      { to: '/chats', title: pages.chats, icon: MessagesSquare },
      { to: '/approvals', title: pages.approvals, icon: ShieldCheck },
      { to: '/groups', title: pages.groups, icon: Users },
      { to: '/simulator', title: pages.simulator, icon: Smartphone },
    ],
  },
  {
    title: groups.build,
    links: [
      { to: '/webhooks', title: pages.webhooks, icon: Webhook },
      { to: '/keys', title: pages.keys, icon: KeyRound },
      { to: '/tools', title: pages.mcp, icon: Wrench },
      // The documentation needs no login, and has pages of its own.
      { href: '/docs', title: pages.reference, icon: Braces },
      { href: '/docs/guides/', title: shellStrings.guides, icon: BookOpen },
    ],
  },
] as const;
