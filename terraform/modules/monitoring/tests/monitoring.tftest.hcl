mock_provider "google" {}

variables {
  project_id            = "acme-identity"
  labels                = { app = "identity" }
  notification_channels = ["projects/acme-identity/notificationChannels/1"]
  instances = {
    north = {
      domain          = "north.example.com"
      services        = { removeOtpEmail = "north-remove-otp-email", export = "north-export", import = "north-import" }
      uptime_check_id = "north-check"
    }
    south = {
      domain          = "south.example.com"
      services        = { removeOtpEmail = "south-remove-otp-email", export = "south-export", import = "south-import" }
      uptime_check_id = "south-check"
    }
  }
}

run "sends_every_alert_with_its_remedy_once_per_project" {
  command = plan

  assert {
    condition = alltrue([
      for policy in [
        google_monitoring_alert_policy.failing,
        google_monitoring_alert_policy.slow,
        google_monitoring_alert_policy.memory,
        google_monitoring_alert_policy.exhausted,
        google_monitoring_alert_policy.unreachable,
        google_monitoring_alert_policy.import_unfinished,
        google_monitoring_alert_policy.backup_failed,
        ] : alltrue([
          toset(policy.notification_channels) == var.notification_channels,
          length(policy.documentation[0].content) > 20,
          policy.combiner == "OR",
          policy.alert_strategy[0].auto_close == "1800s",
          policy.user_labels == tomap({ app = "identity" }),
          policy.project == "acme-identity",
      ])
    ])
    error_message = "Every alert must reach the channels, name a remedy, and close by itself."
  }
  assert {
    condition = { for policy in [
      google_monitoring_alert_policy.failing,
      google_monitoring_alert_policy.slow,
      google_monitoring_alert_policy.memory,
      google_monitoring_alert_policy.exhausted,
      google_monitoring_alert_policy.unreachable,
      google_monitoring_alert_policy.import_unfinished,
      google_monitoring_alert_policy.backup_failed,
      ] : policy.display_name => policy.severity } == {
      "identity: a backup fails"                = "ERROR"
      "identity: a function fails"              = "ERROR"
      "identity: a function is exhausted"       = "WARNING"
      "identity: a function is slow"            = "WARNING"
      "identity: a function runs out of memory" = "WARNING"
      "identity: an import did not finish"      = "WARNING"
      "identity: an instance cannot be reached" = "CRITICAL"
    }
    error_message = "Each alert must have the severity of what it reports."
  }
}

run "compares_failures_with_all_requests" {
  command = plan

  assert {
    condition = [for condition in google_monitoring_alert_policy.failing.conditions : [for threshold in condition.condition_threshold : [
      threshold.filter, threshold.denominator_filter, threshold.comparison, threshold.threshold_value,
      ]]] == [for function in [
      { names = ["north-export", "south-export"], fraction = 0.1 },
      { names = ["north-import", "south-import"], fraction = 0.1 },
      { names = ["north-remove-otp-email", "south-remove-otp-email"], fraction = 0.01 },
      ] : [[
        "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = one_of(\"${function.names[0]}\", \"${function.names[1]}\") AND metric.type = \"run.googleapis.com/request_count\" AND metric.labels.response_code_class = \"5xx\"",
        "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = one_of(\"${function.names[0]}\", \"${function.names[1]}\") AND metric.type = \"run.googleapis.com/request_count\"",
        "COMPARISON_GT", function.fraction,
    ]]]
    error_message = "1 % of the removals, or 10 % of the exports or imports, must raise the alert."
  }
  assert {
    condition = alltrue(flatten([for condition in google_monitoring_alert_policy.failing.conditions : [
      for aggregation in concat(condition.condition_threshold[0].aggregations, condition.condition_threshold[0].denominator_aggregations) :
      aggregation.alignment_period == "300s" && aggregation.per_series_aligner == "ALIGN_DELTA" && aggregation.cross_series_reducer == "REDUCE_SUM" && aggregation.group_by_fields == tolist(["resource.label.service_name"])
    ]]))
    error_message = "Each service must be compared with itself, over five minutes."
  }
}

run "raises_an_alert_for_slowness_before_the_timeout" {
  command = plan

  assert {
    condition = [for condition in google_monitoring_alert_policy.slow.conditions : [
      condition.condition_threshold[0].threshold_value, condition.condition_threshold[0].comparison,
      condition.condition_threshold[0].aggregations[0].cross_series_reducer, condition.condition_threshold[0].aggregations[0].per_series_aligner,
    ]] == [for seconds in [3000, 3000, 2] : [seconds * 1000, "COMPARISON_GT", "REDUCE_PERCENTILE_99", "ALIGN_DELTA"]]
    error_message = "An export or import above 50 minutes, and 1 % of removals above 2 seconds, must raise the alert."
  }
  assert {
    condition     = alltrue([for condition in google_monitoring_alert_policy.slow.conditions : endswith(condition.condition_threshold[0].filter, "metric.type = \"run.googleapis.com/request_latencies\"")])
    error_message = "The alert must look at latencies."
  }
}

run "watches_memory_and_exhaustion_of_every_service" {
  command = plan

  assert {
    condition = alltrue([for policy in [google_monitoring_alert_policy.memory, google_monitoring_alert_policy.exhausted] : alltrue([
      for name in ["north-remove-otp-email", "north-export", "north-import", "south-remove-otp-email", "south-export", "south-import"] :
      strcontains(policy.conditions[0].condition_threshold[0].filter, "\"${name}\"") && policy.conditions[0].condition_threshold[0].aggregations[0].group_by_fields == tolist(["resource.label.service_name"])
    ])])
    error_message = "Every service must be watched, and have an incident of its own."
  }
  assert {
    condition     = google_monitoring_alert_policy.memory.conditions[0].condition_threshold[0].threshold_value == 0.9 && endswith(google_monitoring_alert_policy.memory.conditions[0].condition_threshold[0].filter, "metric.type = \"run.googleapis.com/container/memory/utilizations\"")
    error_message = "90 % of the memory must raise the alert."
  }
  assert {
    condition     = google_monitoring_alert_policy.exhausted.conditions[0].condition_threshold[0].threshold_value == 0 && endswith(google_monitoring_alert_policy.exhausted.conditions[0].condition_threshold[0].filter, "metric.type = \"run.googleapis.com/request_count\" AND metric.labels.response_code = \"429\"")
    error_message = "A single 429 of Cloud Run must raise the alert."
  }
}

run "aggregates_each_metric_by_its_kind" {
  command = plan

  assert {
    condition = [for policy in [google_monitoring_alert_policy.memory, google_monitoring_alert_policy.exhausted] : [
      for threshold in policy.conditions[0].condition_threshold : [
        threshold.comparison, threshold.duration, threshold.aggregations[0].alignment_period, threshold.aggregations[0].per_series_aligner, threshold.aggregations[0].cross_series_reducer,
      ]]] == [
      [["COMPARISON_GT", "0s", "300s", "ALIGN_DELTA", "REDUCE_PERCENTILE_99"]],
      [["COMPARISON_GT", "0s", "300s", "ALIGN_DELTA", "REDUCE_SUM"]],
    ]
    error_message = "Memory is a distribution, of which the 99th percentile counts; requests are summed."
  }
}

run "raises_an_alert_for_a_domain_that_fails_from_two_locations" {
  command = plan

  assert {
    condition = [for threshold in google_monitoring_alert_policy.unreachable.conditions[0].condition_threshold : [
      threshold.filter, threshold.comparison, threshold.threshold_value, threshold.duration, threshold.aggregations[0].cross_series_reducer, threshold.aggregations[0].group_by_fields[0],
      threshold.aggregations[0].per_series_aligner, threshold.aggregations[0].alignment_period,
      ]] == [[
      "resource.type = \"uptime_url\" AND metric.type = \"monitoring.googleapis.com/uptime_check/check_passed\" AND metric.labels.check_id = one_of(\"north-check\", \"south-check\")",
      "COMPARISON_GT", 1, "600s", "REDUCE_COUNT_FALSE", "resource.label.host", "ALIGN_NEXT_OLDER", "1200s",
    ]]
    error_message = "Each instance's own check must raise the alert after ten minutes."
  }
}

run "matches_log_lines_instead_of_a_metric" {
  command = plan

  assert {
    condition     = google_monitoring_alert_policy.import_unfinished.conditions[0].condition_matched_log[0].filter == "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = (\"north-import\" OR \"south-import\") AND labels.log_type = \"audit\" AND jsonPayload.event = \"import.finished\" AND jsonPayload.outcome = (\"CANCELLED\" OR \"UNKNOWN\" OR \"DEADLINE_EXCEEDED\" OR \"UNIMPLEMENTED\" OR \"INTERNAL\" OR \"UNAVAILABLE\")"
    error_message = "An unfinished import of any instance must raise an alert."
  }
  assert {
    condition     = google_monitoring_alert_policy.backup_failed.conditions[0].condition_matched_log[0].filter == "protoPayload.serviceName = \"firestore.googleapis.com\" AND protoPayload.methodName =~ \"Backup\" AND severity >= ERROR"
    error_message = "A failed backup must raise an alert."
  }
  assert {
    condition = alltrue([
      for policy in [google_monitoring_alert_policy.import_unfinished, google_monitoring_alert_policy.backup_failed] :
      policy.alert_strategy[0].notification_rate_limit[0].period == "300s" && length(policy.conditions) == 1
    ])
    error_message = "An alert on log lines must have one condition and a rate limit: the API requires both."
  }
}

run "shows_every_service_on_one_dashboard" {
  command = plan

  assert {
    condition = toset([for tile in jsondecode(google_monitoring_dashboard.this.dashboard_json).mosaicLayout.tiles : tile.widget.xyChart.dataSets[0].timeSeriesQuery.timeSeriesFilter.filter]) == toset([for metric in ["request_count", "request_latencies", "container/instance_count", "container/memory/utilizations"] :
      "resource.type = \"cloud_run_revision\" AND resource.labels.service_name = one_of(\"north-export\", \"south-export\", \"north-import\", \"south-import\", \"north-remove-otp-email\", \"south-remove-otp-email\") AND metric.type = \"run.googleapis.com/${metric}\""
    ])
    error_message = "There must be a chart of requests, latency, processes and memory."
  }
  assert {
    condition     = alltrue([for tile in jsondecode(google_monitoring_dashboard.this.dashboard_json).mosaicLayout.tiles : try(tile.xPos, 1) != 0 && try(tile.yPos, 1) != 0])
    error_message = "The API leaves out positions of zero, so they would be a difference at every plan."
  }
  assert {
    condition     = length(distinct([for tile in jsondecode(google_monitoring_dashboard.this.dashboard_json).mosaicLayout.tiles : "${try(tile.xPos, 0)},${try(tile.yPos, 0)}"])) == 4
    error_message = "No chart may cover another."
  }
}
