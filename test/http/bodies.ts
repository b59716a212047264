/** The bodies of answers, as the interface describes them. */

export interface AgentBody {
  readonly id: string;
  readonly tenant_id: string;
  readonly api_key_id: string;
  readonly hostname: string;
  readonly name: string;
  readonly agent_version: string | null;
  readonly registered_at: string;
  readonly last_seen_at: string;
  readonly status: string;
}

/** An entry of GET /v1/agents. */
export interface AgentEntry extends Omit<AgentBody, 'tenant_id' | 'api_key_id'> {
  readonly events_last_hour: number;
}

export interface StoredEvent {
  readonly id: string;
  readonly service_name: string;
  readonly vendor: string;
  readonly entity: string;
  readonly event_type: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly actor: string | null;
  readonly sha: string | null;
  readonly confidence: number;
  readonly ttl_seconds: number;
  readonly timestamp: string;
  readonly received_at: string;
  readonly expires_at: string;
}

/** GET /v1/agents/{id} */
export interface EventLogBody {
  readonly agent: AgentBody;
  readonly events_by_minute: readonly number[];
  readonly events: readonly StoredEvent[];
  readonly page: number;
  readonly per_page: number;
  readonly total_pages: number;
  readonly total: number;
  readonly filter_services: readonly string[];
  readonly filter_vendors: readonly string[];
  readonly filter_service: string | null;
  readonly filter_vendor: string | null;
  readonly filter_event_type: string | null;
}

export interface ServiceBody {
  readonly id: string;
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly last_event_at: string;
}

export interface WindowEvent {
  readonly event_type: string;
  readonly vendor: string;
  readonly entity: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly actor: string | null;
  readonly sha: string | null;
  readonly confidence: number;
  readonly timestamp: string;
  readonly expires_at: string;
}

/** GET /v1/services/{id}/context */
export interface WindowBody {
  readonly service: string;
  readonly deploy_events: readonly WindowEvent[];
  readonly restart_events: readonly WindowEvent[];
  readonly saturation_events: readonly WindowEvent[];
  readonly flag_change_events: readonly WindowEvent[];
  readonly circuit_open_events: readonly WindowEvent[];
  readonly dependency_failure_events: readonly WindowEvent[];
  readonly updated_at: string;
  readonly truncated?: boolean;
}

export interface IntegrationBody {
  readonly id: string;
  readonly tenant_id: string;
  readonly type: string;
  readonly direction: string;
  readonly token: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly webhook_url: string;
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
