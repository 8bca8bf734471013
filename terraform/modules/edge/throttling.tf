resource "google_compute_security_policy" "this" {
  name = "identity"
  type = "CLOUD_ARMOR"

  # Each export or import occupies a process for up to an hour: few requests exhaust them, with or without a valid token.
  rule {
    description = "Returns 429 to addresses above the limit of exports and imports."
    priority    = 900
    action      = "throttle"
    match {
      expr {
        expression = "request.path.startsWith('/admin/')"
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(429)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = var.admin_requests_per_minute
        interval_sec = 60
      }
    }
  }

  rule {
    description = "Returns 429 to addresses above the limit."
    priority    = 1000
    action      = "throttle"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
    rate_limit_options {
      conform_action = "allow"
      exceed_action  = "deny(429)"
      enforce_on_key = "IP"
      rate_limit_threshold {
        count        = var.requests_per_minute
        interval_sec = 60
      }
    }
  }

  rule {
    description = "The default rule, which every policy requires."
    priority    = 2147483647
    action      = "allow"
    match {
      versioned_expr = "SRC_IPS_V1"
      config {
        src_ip_ranges = ["*"]
      }
    }
  }
}
