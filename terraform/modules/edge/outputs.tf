output "addresses" {
  description = "The load balancer's addresses, by the type of the DNS record that leads to each."
  value       = { A = google_compute_global_address.this["IPV4"].address, AAAA = google_compute_global_address.this["IPV6"].address }
}

output "certificate_records" {
  description = "The DNS record that authorises the certificate of each domain."
  value = { for domain, authorization in google_certificate_manager_dns_authorization.this : domain => one([
    for record in authorization.dns_resource_record : { name = record.name, type = record.type, data = record.data }
  ]) }
}
