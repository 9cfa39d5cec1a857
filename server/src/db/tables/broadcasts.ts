/** Statuses and channels. */
export interface BroadcastTables {
  statuses: {
    account_id: string;
    session_id: string;
    status_id: string;
    network_id: string;
    from_number: string;
    is_own: number;
    type: 'text' | 'image' | 'video' | 'voice';
    body: string;
    /** JSON of everything besides the text. */
    content: string | null;
    /** JSON list of the numbers that can see an own status; null if it was posted elsewhere, or by others. */
    audience: string | null;
    state: PostState;
    error: string | null;
    timestamp: number;
    expires_at: number;
    /** When the session marked it as viewed. */
    viewed_at: number | null;
    media_id: string | null;
  };
  /** People who have seen an own status, with their reactions. */
  status_views: {
    account_id: string;
    session_id: string;
    status_id: string;
    phone_number: string;
    viewed_at: number;
    emoji: string | null;
  };
  channels: {
    account_id: string;
    session_id: string;
    channel_id: string;
    network_id: string;
    /** Null until the network has described the channel. */
    name: string | null;
    description: string | null;
    invite_link: string | null;
    /** Null if the session does not follow it. */
    role: 'follower' | 'admin' | 'owner' | null;
    muted: number;
    verified: number;
    followers: number | null;
    created_at: number | null;
  };
  channel_posts: {
    account_id: string;
    session_id: string;
    channel_id: string;
    post_id: string;
    network_id: string;
    /** The number of the post in its channel. */
    server_id: string | null;
    is_own: number;
    type: 'text' | 'image' | 'video';
    body: string;
    /** JSON of everything besides the text. */
    content: string | null;
    state: PostState;
    error: string | null;
    views: number | null;
    /** JSON of the number of people by emoji. */
    reactions: string | null;
    timestamp: number;
    media_id: string | null;
  };
}

/** `sending`: the network has not accepted it, or the server died before it knew. */
export type PostState = 'sending' | 'sent' | 'failed';
